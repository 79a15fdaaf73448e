/** Node keeps compiled code in the folder for temporary files, for every process that asks for it. */
export const keptTemporary: readonly string[] = ['node-compile-cache'];
