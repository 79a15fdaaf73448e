/*
 * The pages of dashboards, as data: what renders them (Grafana's JSON, a console) adds nothing but form. Expressions hold
 * $window where a rate needs one, and the variables of their page.
 */

/** Pages; `shop-` before it is the identity of the page in Grafana. */
export type PageId = 'overview' | 'service' | 'orders' | 'messaging' | 'platform';

/** A choice at the top of a page. */
export interface Variable {
  readonly name: 'service' | 'instance' | 'track';
  readonly title: string;
  /** Whose values are offered. */
  readonly series: string;
  readonly label: string;
  /** Several, and all of them at first; else one. */
  readonly isMulti: boolean;
}

export type Unit = 'ops' | 's' | 'ms' | 'share' | 'count' | 'burn';

export interface Query {
  readonly expr: string;
  /** Labels in double braces, as in Grafana. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  readonly kind: 'lines' | 'number' | 'table';
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** What is shown, and how to read it, where the title does not say so. */
  readonly description?: string;
  /** Of 24 columns. */
  readonly width: number;
  /** What must have happened before there is data; else there is some after a minute of load. */
  readonly after?: string;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Page {
  readonly id: PageId;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

/** What a renderer puts where the window of a rate stands. */
export const WINDOW = '$window';
