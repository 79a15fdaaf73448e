/** A handler of rejections that takes errors with these codes (`ENOENT`) for nothing, as undefined, and throws all others again. */
export function unless(...codes: readonly string[]) {
  return (error: NodeJS.ErrnoException): undefined => {
    if (error.code === undefined || !codes.includes(error.code)) throw error;
    return undefined;
  };
}
