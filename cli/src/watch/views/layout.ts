/** How many lines each part of the screen gets. */
export interface Layout {
  readonly kind: 'narrow' | 'wide';
  readonly columns: number;
  readonly rows: number;
  /** Components one a line, or all in one. */
  readonly componentRows: boolean;
  /** All edges, or those of calls between services. */
  readonly allEdges: boolean;
  /** An empty line between parts. */
  readonly gaps: boolean;
  readonly services: number;
  readonly edges: number;
  /** Width of the chart; what is left belongs to sagas and orders, or to the events where it is wide. */
  readonly chartColumns: number;
  readonly chart: number;
  readonly sagas: number;
  /** 0: the line under the chart has to do. */
  readonly faults: number;
  readonly orders: number;
}

export interface LayoutInput {
  readonly columns: number;
  readonly rows: number;
  /** How many services, components and edges there are. */
  readonly services: number;
  readonly components: number;
  readonly edges: number;
}

/** Nothing is shown on less. */
export const smallest = { columns: 80, rows: 24 } as const;

/** Edges with a breaker. */
const CALL_EDGES = 4;
/** Width of the tables. */
export const TABLE_COLUMNS = 80;
const WIDE = { columns: 140, rows: 40 } as const;
/** Between the parts that stand side by side. */
export const GUTTER = 2;
const SAGA_LINES = 4;
const SIDE_COLUMNS = 43;
/** Header, notice and keys. */
const FRAME_LINES = 3;

/** Where everything is; undefined on a screen that is too small. Pure. */
export function layoutOf(input: LayoutInput): Layout | undefined {
  if (input.columns < smallest.columns || input.rows < smallest.rows) return undefined;
  return input.columns >= WIDE.columns && input.rows >= WIDE.rows ? wide(input) : narrow(input);
}

function wide({ columns, rows, services, components, edges }: LayoutInput): Layout {
  const tables = 1 + services + components + 1 + 1 + edges;
  const faults = 4;
  const chart = rows - FRAME_LINES - tables - 2;
  return {
    kind: 'wide',
    columns,
    rows,
    componentRows: true,
    allEdges: true,
    gaps: true,
    services: 1 + services + components,
    edges: 1 + edges,
    chartColumns: Math.floor((columns - GUTTER) * 0.62),
    chart,
    sagas: SAGA_LINES,
    faults,
    orders: tables - SAGA_LINES - faults - 2,
  };
}

/** What a taller screen gets first: components, distance, all edges; the rest goes to chart and orders. */
function narrow({ columns, rows, services, components, edges }: LayoutInput): Layout {
  let left = rows - FRAME_LINES - (1 + services + 1) - (1 + CALL_EDGES) - 8;
  const take = (lines: number, keep: number) => {
    if (left < lines + keep) return false;
    left -= lines;
    return true;
  };
  const gaps = take(2, 0);
  const componentRows = take(components - 1, 2);
  const allEdges = take(edges - CALL_EDGES, 4);
  const chart = 8 + left;
  const faults = chart >= 16 ? 5 : 0;
  return {
    kind: 'narrow',
    columns,
    rows,
    componentRows,
    allEdges,
    gaps,
    services: 1 + services + (componentRows ? components : 1),
    edges: 1 + (allEdges ? edges : CALL_EDGES),
    chartColumns: columns - SIDE_COLUMNS - GUTTER,
    chart,
    sagas: SAGA_LINES,
    faults,
    orders: chart - SAGA_LINES - faults,
  };
}
