import type { CheckResult } from '../shared/verdict.ts';

/** One thing `doctor` looked at. What a platform can run without is a warning. */
export interface DoctorCheck extends CheckResult<'pass' | 'fail'> {
  readonly group: 'runtime' | 'machine' | 'components' | 'ports' | 'state';
}
