import { Box, Text } from 'ink';
import { createElement as h, useMemo } from 'react';
import type { Style } from '../../output/style.ts';
import { edges as topology } from '../../topology/services.ts';
import { indexOfSelected } from '../model/keys.ts';
import type { WatchModel } from '../model/model.ts';
import { ChartPanel } from './chart-panel.ts';
import { EdgesPanel } from './edges-panel.ts';
import { EventsPanel } from './events-panel.ts';
import { FaultsPanel } from './faults-panel.ts';
import { Header, KeysLine, NoticeLine } from './frame.ts';
import { GUTTER, type Layout, layoutOf, smallest, TABLE_COLUMNS } from './layout.ts';
import { OrderView } from './order-page.ts';
import { OrdersPanel } from './orders-panel.ts';
import { HelpWindow, PickerWindow } from './overlay.ts';
import { SagasPanel } from './sagas-panel.ts';
import { ServicesPanel } from './services-panel.ts';

export interface ScreenProps {
  readonly model: WatchModel;
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
}

/** Everything, for a screen of this size. */
export function Screen({ model, columns, rows, style }: ScreenProps) {
  const instances = model.state?.instances ?? [];
  const countOf = (kind: string) =>
    new Set(instances.filter((one) => one.kind === kind).map(({ service }) => service)).size;
  const layout = layoutOf({
    columns,
    rows,
    services: countOf('service') || 6,
    components: countOf('component') || 3,
    edges: topology.length,
  });
  if (layout === undefined) {
    const text = `shopctl watch needs ${smallest.columns} columns and ${smallest.rows} rows; here are ${columns} and ${rows}`;
    return h(Box, { width: columns, height: rows }, h(Text, { wrap: 'wrap' }, text));
  }
  const { page, nowMs, notice, load, project, state, problems, faults, pages } = model;
  return h(
    Box,
    { flexDirection: 'column', width: columns, height: rows },
    h(Header, {
      project,
      state,
      problem: problems.platform,
      faults: faults.length,
      pages,
      nowMs,
      width: columns,
      style,
    }),
    page.kind === 'order'
      ? h(OrderView, { page, width: columns, height: rows - 3, style })
      : h(Overview, { model, layout, style }),
    h(NoticeLine, { notice, load, nowMs, width: columns, style }),
    h(KeysLine, { page: page.kind, width: columns, style }),
    page.kind === 'picker' && h(PickerWindow, { picker: page, columns, rows, style }),
    page.kind === 'help' && h(HelpWindow, { columns, rows, style }),
  );
}

interface OverviewProps {
  readonly model: WatchModel;
  readonly layout: Layout;
  readonly style: Style;
}

const NO_RED = {};
const NO_WAITING = {};
const NO_EDGES = {};
const NO_INSTANCES: NonNullable<WatchModel['state']>['instances'] = [];

function Overview({ model, layout, style }: OverviewProps) {
  return layout.kind === 'wide'
    ? h(WideOverview, { model, layout, style })
    : h(NarrowOverview, { model, layout, style });
}

function NarrowOverview({ model, layout, style }: OverviewProps) {
  const width = layout.columns - layout.chartColumns - GUTTER;
  return h(
    Box,
    { flexDirection: 'column' },
    h(Tables, { model, layout, style }),
    layout.gaps && h(Text, null, ' '),
    h(
      Box,
      { height: layout.chart, columnGap: GUTTER },
      h(Box, { width: layout.chartColumns }, h(ChartOf, { model, layout, style })),
      h(
        Box,
        { flexDirection: 'column', width },
        h(SagasOf, { model, layout, style, width }),
        layout.faults > 0 && h(FaultsOf, { model, layout, style, width }),
        h(OrdersOf, { model, layout, style, width }),
      ),
    ),
  );
}

function WideOverview({ model, layout, style }: OverviewProps) {
  const side = layout.columns - TABLE_COLUMNS - GUTTER;
  const events = layout.columns - layout.chartColumns - GUTTER;
  return h(
    Box,
    { flexDirection: 'column' },
    h(
      Box,
      { columnGap: GUTTER },
      h(Box, { flexDirection: 'column', width: TABLE_COLUMNS }, h(Tables, { model, layout, style })),
      h(
        Box,
        { flexDirection: 'column', width: side },
        h(SagasOf, { model, layout, style, width: side }),
        h(Text, null, ' '),
        h(FaultsOf, { model, layout, style, width: side }),
        h(Text, null, ' '),
        h(OrdersOf, { model, layout, style, width: side }),
      ),
    ),
    h(Text, null, ' '),
    h(
      Box,
      { height: layout.chart, columnGap: GUTTER },
      h(Box, { width: layout.chartColumns }, h(ChartOf, { model, layout, style })),
      h(EventsPanel, { events: model.events, width: events, height: layout.chart, style }),
    ),
  );
}

/** Services over edges. */
function Tables({ model, layout, style }: OverviewProps) {
  const { state, figures, faults, problems } = model;
  const faulty = useMemo(() => new Set(faults.map(({ target }) => target)), [faults]);
  return h(
    Box,
    { flexDirection: 'column' },
    h(ServicesPanel, {
      instances: state?.instances ?? NO_INSTANCES,
      red: figures?.services ?? NO_RED,
      waiting: figures?.waiting ?? NO_WAITING,
      componentRows: layout.componentRows,
      height: layout.services,
      style,
    }),
    layout.gaps && h(Text, null, ' '),
    h(EdgesPanel, {
      edges: figures?.edges ?? NO_EDGES,
      problem: problems.telemetry,
      faulty,
      height: layout.edges,
      style,
    }),
  );
}

function ChartOf({ model: { history, faults, nowMs }, layout, style }: OverviewProps) {
  return h(ChartPanel, { history, faults, nowMs, width: layout.chartColumns, height: layout.chart, style });
}

function SagasOf({ model: { shop, figures }, layout, style, width }: OverviewProps & { readonly width: number }) {
  return h(SagasPanel, {
    open: shop?.open,
    confirmed: figures?.confirmed,
    cancelled: figures?.cancelled,
    saga: figures?.saga,
    width,
    height: layout.sagas,
    style,
  });
}

function FaultsOf({ model: { faults, nowMs }, layout, style, width }: OverviewProps & { readonly width: number }) {
  return h(FaultsPanel, { faults, nowMs, width, height: layout.faults, style });
}

function OrdersOf({ model, layout, style, width }: OverviewProps & { readonly width: number }) {
  return h(OrdersPanel, {
    orders: model.shop?.orders,
    selected: indexOfSelected(model),
    problem: model.problems.databases,
    width,
    height: layout.orders,
    style,
  });
}
