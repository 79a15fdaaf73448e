/** Raised with cli/package.json; a test keeps them equal. */
export const VERSION = '0.2.0';
