/**
 * A name as SQL takes it, whatever is in it (PostgreSQL, 4.1.1 Identifiers and Key Words). The driver has the same; a command that
 * only builds statements would load all of it for that.
 */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
