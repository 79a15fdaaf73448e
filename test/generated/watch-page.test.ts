import { expect, it } from 'vitest';
import { drawScreen } from '../../cli/src/watch/testing/draw.ts';
import { aModel } from '../../cli/src/watch/testing/models.ts';
import { expectGeneratedBlocks } from './expect-generated.ts';

it('docs/watch.md shows the screen as it is drawn', async () => {
  const lines = drawScreen(aModel()).map((line) => line.trimEnd());
  expect(lines.join('\n')).toContain('OUTBOX 216, rising');
  await expectGeneratedBlocks('docs/watch.md', { screen: `\`\`\`text\n${lines.join('\n')}\n\`\`\`` });
});
