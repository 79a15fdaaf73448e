/** What the platform needs beside its own services, in the order in which it is listed everywhere. */
export const componentNames = ['postgres', 'rabbitmq', 'toxiproxy', 'jaeger', 'prometheus'] as const;

export type ComponentName = (typeof componentNames)[number];
