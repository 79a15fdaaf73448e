import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { LegendDisplayMode, VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { Panel as GrafanaPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { type Page, type Panel, type Query, type Unit, type Variable, WINDOW } from './model.ts';

/** Chosen at the top of each page. */
const DATASOURCE = { type: 'prometheus', uid: `\${datasource}` };

const units: Readonly<Record<Unit, string>> = {
  ops: 'ops',
  s: 's',
  ms: 'ms',
  share: 'percentunit',
  count: 'short',
  burn: 'none',
};

/** A page as Grafana's classic JSON, with a newline at its end. The same page always has the same text. */
export function grafanaDashboard(page: Page): string {
  const builder = new DashboardBuilder(`Shop: ${page.title}`)
    .uid(`shop-${page.id}`)
    .description(page.description)
    .tags(['shop'])
    .timezone('browser')
    .refresh('5s')
    .time({ from: 'now-15m', to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  for (const variable of page.variables) builder.withVariable(variableOf(variable));
  // Grafana gives panels numbers when it loads them; with these, a link to a panel stays valid.
  let id = 0;
  const nextId = () => {
    id += 1;
    return id;
  };
  for (const { title, panels } of page.rows) {
    builder.withRow(new RowBuilder(title).id(nextId()));
    for (const panel of panels) builder.withPanel(panelOf(panel, nextId()));
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`;
}

function variableOf({ name, title, series, label, isMulti }: Variable) {
  const variable = new QueryVariableBuilder(name)
    .label(title)
    .datasource(DATASOURCE)
    .query(`label_values(${series}, ${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(isMulti)
    .includeAll(isMulti);
  return isMulti ? variable.allValue('.*').current({ selected: true, text: 'All', value: '$__all' }) : variable;
}

const HEIGHT = 8;
const HEIGHT_OF_A_NUMBER = 4;

function panelOf(panel: Panel, id: number): Builder<GrafanaPanel> {
  const { title, description, unit, width, queries, kind } = panel;
  const builder = builderOf(kind);
  builder
    .id(id)
    .title(title)
    .unit(units[unit])
    .datasource(DATASOURCE)
    .span(width)
    .height(kind === 'number' ? HEIGHT_OF_A_NUMBER : HEIGHT)
    .targets(queries.map((query, index) => targetOf(query, index, kind)));
  const text = [description, panel.after && `There is data after: ${panel.after}.`].filter((one) => one !== undefined);
  if (text.length > 0) builder.description(text.join(' '));
  return builder;
}

function builderOf(kind: Panel['kind']) {
  if (kind === 'number') return new StatBuilder();
  if (kind === 'table') return new TableBuilder();
  return new TimeseriesBuilder().legend(
    new VizLegendOptionsBuilder().showLegend(true).displayMode(LegendDisplayMode.List),
  );
}

function targetOf({ expr, legend }: Query, index: number, kind: Panel['kind']) {
  const query = new DataqueryBuilder()
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expr.replaceAll(WINDOW, '$__rate_interval'))
    .datasource(DATASOURCE);
  if (kind === 'table') return query.instant().format(PromQueryFormat.Table);
  return query.range().legendFormat(legend === '' ? '__auto' : legend);
}
