import type { Profile } from '../../cli/src/slo/profiles.ts';
import type { ScenarioFile } from '../scenario.ts';
import { connectionsHigh, retriesHigh } from './calls.ts';
import { gaugeFiles } from './gauges.ts';
import { deadLetters, deadLettersCounted, queueNotDraining, shipmentsMissing } from './messaging.ts';
import { budgetSpent, failingAtLowTraffic, failingInFastWindow, probesFailing } from './orders.ts';
import { deployInProgress, instanceRestarting, spansDropped, telemetryLost, watchdog } from './platform.ts';

/** The cases of the alerts that are not burn rates: each fires, is just below, resolves, and has no data. */
export function scenariosOf(profile: Profile, keepS: number): readonly ScenarioFile[] {
  return [
    ...gaugeFiles(profile, keepS),
    ...(profile.hasSupervisor
      ? [queueNotDraining(keepS), ...shipmentsMissing(keepS), probesFailing(keepS), deadLetters(keepS)]
      : [deadLettersCounted(keepS)]),
    failingAtLowTraffic(keepS),
    failingInFastWindow(profile),
    telemetryLost(profile, keepS),
    spansDropped(profile, keepS),
    budgetSpent(profile, keepS),
    instanceRestarting(profile, keepS),
    retriesHigh(profile, keepS),
    connectionsHigh(profile, keepS),
    deployInProgress(profile, keepS),
    watchdog(profile),
  ];
}
