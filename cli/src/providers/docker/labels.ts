/** Marks containers and volumes as a project's; see `projectKey`. */
export const CONTAINER_LABEL = 'dev.shopctl.project';
/** What it is in its project: `postgres`, `orders-1`. */
export const COMPONENT_LABEL = 'dev.shopctl.component';
