/** What happened in a history, line by line, and what it violated; printed when a history fails. */
export interface Journal {
  note(who: string, what: string): void;
  violated(rule: string): void;
  readonly violations: readonly string[];
  toString(): string;
}

export function createJournal(now: () => number): Journal {
  const lines: string[] = [];
  const violations: string[] = [];
  const note = (who: string, what: string) => {
    lines.push(`${String(now()).padStart(6)} ms  ${who.padEnd(10)} ${what}`);
  };
  return {
    note,
    violated(rule) {
      violations.push(rule);
      note('VIOLATED', rule);
    },
    violations,
    toString: () => lines.join('\n'),
  };
}
