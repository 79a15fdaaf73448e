/** One thing `doctor` looked at. Warnings do not fail it. */
export interface Check {
  readonly category: 'runtime' | 'machine' | 'components' | 'ports' | 'state';
  readonly name: string;
  readonly status: 'pass' | 'warning' | 'fail';
  readonly message: string;
  /** What to do, where something is to be done. */
  readonly fix?: string;
}
