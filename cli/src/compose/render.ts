import { stringify } from 'yaml';
import { composeFile } from './compose.ts';

const HEADER = `# The whole shop by "docker compose up": see docs/docker.md, "Compose".
# Written by "shopctl compose" from the definitions that "shopctl up" uses; a test compares them.
`;

/** The text of compose.yaml. */
export function renderCompose(): string {
  return `${HEADER}${stringify(composeFile(), { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
