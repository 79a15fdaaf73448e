import { writtenYaml } from './rule-files.ts';
import type { RuleGroup } from './rules.ts';

/** Groups of rules as a resource of the Prometheus operator, whose selector has to match the label `prometheus`. */
export function prometheusRule(name: string, groups: readonly RuleGroup<object>[]): string {
  return writtenYaml({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: {
      name,
      labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'telemetry', prometheus: 'shop' },
    },
    spec: { groups },
  });
}
