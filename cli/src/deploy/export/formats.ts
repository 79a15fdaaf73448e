export const exportFormats = ['argo-rollouts', 'flagger', 'gateway-api'] as const;

export type ExportFormat = (typeof exportFormats)[number];
