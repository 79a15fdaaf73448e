import { type Command, InvalidArgumentError, Option } from 'commander';

const MAX_LENGTH = 200;

/** Of commands whose changes are recorded. */
export interface ReasonOptions {
  readonly reason?: string;
}

/** Adds --reason. */
export function withReason(command: Command): Command {
  return command.addOption(reason());
}

/** Adds --reason to a command that is not to be run without one. */
export function withRequiredReason(command: Command): Command {
  return command.addOption(reason().makeOptionMandatory());
}

function reason(): Option {
  return new Option('--reason <text>', 'why, as "shopctl changes" shows it').argParser(parseLine);
}

/** One line, which is printed on terminals as it is. */
export function parseLine(text: string): string {
  if (text.trim() === '' || text.length > MAX_LENGTH || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError(`expected one line of 1 to ${MAX_LENGTH} characters`);
  return text.trim();
}
