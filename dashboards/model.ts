/** Pages of dashboards; `shop-` before it is the identity of the page in Grafana. */
export type PageId = 'overview' | 'service' | 'orders' | 'messaging' | 'platform';
