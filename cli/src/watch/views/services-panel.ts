import { Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Style } from '../../output/style.ts';
import { widthOf } from '../../output/width.ts';
import type { InstanceState } from '../../platform/state.ts';
import { serviceNames } from '../../topology/services.ts';
import type { Red } from '../model/figures.ts';
import { worstOf } from './signs.ts';
import { cpuText, fitLines, memoryText, msText, rateText, rowOf } from './text.ts';

/** Of its lines, in columns: what the narrowest screen has. */
const WIDTH = 80;
const GAP = '  ';

export interface ServicesProps {
  readonly instances: readonly InstanceState[];
  /** By service; undefined until the metrics of two moments are there. */
  readonly red: Readonly<Record<string, Red>>;
  /** Requests that wait for their response, by service. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly componentRows: boolean;
  readonly height: number;
  readonly style: Style;
}

/** Services with health, replicas, use of the machine, and what they serve; then the components. */
export const ServicesPanel = memo(({ instances, red, waiting, componentRows, height, style }: ServicesProps) => {
  const groups = Map.groupBy(instances, ({ service }) => service);
  const rows = [...groups].map(([name, own]) => ({ name, own, isService: own[0]?.kind === 'service' }));
  const services = rows.filter(({ isService }) => isService).sort(byRank);
  const components = rows.filter(({ isService }) => !isService);
  const lines = [
    style.bold(
      rowOf([
        [' SERVICE', 10],
        ['READY', 14],
        ['CPU', -6],
        ['MEMORY', -8],
        ['RESTARTS', -9],
        ['REQ/S', -7],
        ['WAIT', -5],
        ['ERR/S', -7],
        ['P50', -7],
        ['P95', -7],
      ]),
    ),
    ...services.map(({ name, own }) => line(name, own, { red: red[name], waiting: waiting[name] }, style)),
    ...(componentRows ? components.map(({ name, own }) => line(name, own, {}, style)) : [shortest(components, style)]),
  ];
  return h(Text, null, fitLines(lines, height));
});

/** As an order meets them. */
const RANK: readonly string[] = serviceNames;

function byRank(a: { readonly name: string }, b: { readonly name: string }): number {
  return RANK.indexOf(a.name) - RANK.indexOf(b.name);
}

interface Served {
  readonly red?: Red | undefined;
  readonly waiting?: number | undefined;
}

function line(name: string, own: readonly InstanceState[], served: Served, style: Style): string {
  const ready = own.filter(({ status }) => status === 'ready').length;
  const { sign, word, colour } = worstOf(own);
  const restarts = total(own, ({ restarts: count }) => count) ?? 0;
  const isService = own[0]?.kind === 'service';
  return rowOf([
    // A component has one process, and may have a longer name.
    [` ${name}`, isService ? 10 : 12],
    isService ? [`${sign} ${ready}/${own.length} ${word}`, 14, style[colour]] : [`${sign} ${word}`, 12, style[colour]],
    [cpuText(total(own, ({ cpuPercent }) => cpuPercent)), -6],
    [memoryText(total(own, ({ rssBytes }) => rssBytes)), -8],
    [String(restarts), -9, restarts > 0 ? style.yellow : undefined],
    ...servedCells(served, isService, style),
  ]);
}

function servedCells({ red, waiting }: Served, isShown: boolean, style: Style) {
  if (!isShown) return [];
  const { perSecond = 0, errorsPerSecond = 0, p50Ms, p95Ms } = red ?? {};
  return [
    [rateText(perSecond), -7],
    [waiting === undefined ? '-' : String(waiting), -5],
    [rateText(errorsPerSecond), -7, errorsPerSecond > 0 ? style.red : undefined],
    [msText(p50Ms), -7],
    [msText(p95Ms), -7],
  ] as const;
}

/** The components in one line of the panel, with their use of the machine where it has the width. */
function shortest(components: readonly { name: string; own: readonly InstanceState[] }[], style: Style): string {
  const parts = components.map(({ name, own }) => {
    const { sign, word, colour } = worstOf(own);
    const state = word === 'ready' ? sign : `${sign} ${word}`;
    const cpu = total(own, ({ cpuPercent }) => cpuPercent);
    const use = cpu === undefined ? '' : ` ${cpuText(cpu)} ${memoryText(total(own, ({ rssBytes }) => rssBytes))}`;
    return { plain: ` ${name} ${state}`, painted: ` ${name} ${style[colour](state)}`, use };
  });
  const width = parts.reduce((sum, { plain, use }) => sum + widthOf(plain) + widthOf(use) + GAP.length, 0);
  return parts.map(({ painted, use }) => (width > WIDTH ? painted : `${painted}${use}`)).join(GAP);
}

/** Undefined when none of them reports it. */
function total(own: readonly InstanceState[], of: (instance: InstanceState) => number | undefined): number | undefined {
  const known = own.flatMap((instance) => of(instance) ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}
