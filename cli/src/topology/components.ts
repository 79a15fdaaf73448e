/** What the platform needs beside its own services. */
export type ComponentName = 'postgres' | 'rabbitmq' | 'toxiproxy' | 'jaeger';

export const componentNames: readonly ComponentName[] = ['postgres', 'rabbitmq', 'toxiproxy', 'jaeger'];
