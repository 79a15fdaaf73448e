import type { Profile } from '../../cli/src/slo/profiles.ts';
import type { Slo } from '../../cli/src/slo/slo.ts';
import type { Alert } from './alert.ts';
import { burnAlerts } from './burns.ts';
import { causes, watchdog } from './causes.ts';
import { gaugePages, supervisorPages } from './pages.ts';
import { tickets } from './tickets.ts';

/** All alerts of a profile. Throws where an SLO that they need is not there. */
export function alertsOf(slos: readonly Slo[], profile: Profile): readonly Alert[] {
  const availability = slos.find(({ name }) => name === 'orders-availability');
  if (availability === undefined) throw new Error('there is no SLO orders-availability');
  return [
    ...slos.flatMap((slo) => burnAlerts(slo, profile)),
    ...gaugePages(profile),
    ...(profile.hasSupervisor ? supervisorPages : []),
    ...tickets(availability, profile),
    ...causes(profile),
    watchdog,
  ];
}
