import { type ExitCode, exitCodes } from './exit-codes.ts';

/** How a process reacts to Ctrl-C and SIGTERM. */
export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  onInterrupt(cleanUp: () => Promise<void>): void;
  /** `exitCode`, or 130/143 once the clean-up is done if a signal came. */
  exitCodeOr(exitCode: ExitCode): Promise<ExitCode>;
}

const codes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

/**
 * First signal: the abort signal fires and registered clean-ups run in reverse order, then the process exits (at once
 * when there are none). Second signal: exits without waiting.
 */
export function createInterruption(
  host: NodeJS.Process,
  output: { note(text: string): void; warn(text: string): void },
): Interruption {
  const controller = new AbortController();
  const cleanUps: (() => Promise<void>)[] = [];
  let ending: Promise<ExitCode> | undefined;

  const end = async (code: ExitCode): Promise<ExitCode> => {
    if (cleanUps.length > 0) output.note('interrupted: ending; press Ctrl-C again to force');
    controller.abort();
    for (const cleanUp of cleanUps.reverse()) {
      await cleanUp().catch((error: unknown) => output.warn(`while ending: ${(error as Error).message}`));
    }
    return code;
  };
  for (const [name, code] of Object.entries(codes) as [keyof typeof codes, ExitCode][]) {
    host.on(name, () => {
      if (ending) host.exit(code);
      ending = end(code);
      // The command itself may never come back, so this is where an interrupted process ends.
      void ending.then((exitCode) => host.exit(exitCode));
    });
  }
  return {
    signal: controller.signal,
    onInterrupt: (cleanUp) => void cleanUps.push(cleanUp),
    exitCodeOr: async (exitCode) => ending ?? exitCode,
  };
}
