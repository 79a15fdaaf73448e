import { expect, it } from 'vitest';
import { explainFailure } from './packages.ts';

it('names the package of a missing library', () => {
  const output =
    'erlexec: error while loading shared libraries: libtinfo.so.6: cannot open shared object file: No such file or directory';
  expect(explainFailure(output)).toBe(
    'Erlang needs the library libtinfo.so.6, which this machine lacks: install libtinfo6',
  );
});

it('shows any other failure as it is', () => {
  expect(explainFailure('Illegal instruction\n')).toBe('the unpacked Erlang does not run: Illegal instruction');
});
