import { it } from 'vitest';
import { renderCompose } from '../../cli/src/compose/render.ts';
import { expectGenerated } from './expect-generated.ts';

it('compose.yaml is what "shopctl compose" prints', () => expectGenerated('compose.yaml', renderCompose()));
