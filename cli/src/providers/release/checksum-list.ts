/**
 * The SHA-256 of a file in a list as `sha256sum` and `shasum` write it: hex, a space, a space or an asterisk, the name.
 * Undefined when the list does not have the file.
 */
export function listedChecksum(list: string, name: string): string | undefined {
  for (const line of list.split('\n')) {
    const [, sha256, listed] = /^([0-9a-f]{64}) [ *](?:\.\/)?(\S+)\s*$/i.exec(line) ?? [];
    if (listed === name) return sha256?.toLowerCase();
  }
  return undefined;
}
