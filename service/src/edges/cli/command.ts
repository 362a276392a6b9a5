import { UsageError } from '../../kernel/errors.ts';
/** The help text of one command, shown by `causeway NAME --help`. */
export type CommandHelp = {
  /** The ways to call the command, one per line, without the program name. */
  usage: readonly string[];
  /** One paragraph. */
  description: string;
  /** What each subcommand does. */
  commands?: Readonly<Record<string, string>>;
  /** The meaning of each option. A key is the option with its placeholder, such as `--write FILE`. */
  options?: Readonly<Record<string, string>>;
  /** Example command lines, without the program name. Each value is a comment that says what the example does. */
  examples: Readonly<Record<string, string>>;
};

export type Command = { help: CommandHelp; run(args: string[]): Promise<void> };

const MAX_REASON_LENGTH = 1_000;

/** Returns the value of `--reason` without surrounding space. Throws a `UsageError` if it is missing or too long. */
export function requireReason(command: string, value = ''): string {
  const reason = value.trim();
  if (reason === '') throw new UsageError(`${command} requires --reason TEXT`);
  if (reason.length > MAX_REASON_LENGTH)
    throw new UsageError(`--reason must have at most ${MAX_REASON_LENGTH} characters`);
  return reason;
}

/** Returns the error for an unknown command of `group`. `name` is empty if the user typed no command. */
export function unknownCommand(group: string, name: string, known: readonly string[]): UsageError {
  const problem = name === '' ? `${group} requires a command` : `unknown command "${group} ${name}"`;
  return new UsageError(`${problem}; use one of ${known.join(', ')}`);
}

const WIDTH = 100;

export function formatHelp({ usage, description, commands, options, examples }: CommandHelp): string {
  const sections = [
    ['Usage:', ...usage.map((line) => `  causeway ${line}`)],
    wrap(description, WIDTH),
    ...(commands === undefined ? [] : [['Commands:', ...formatColumns(commands)]]),
    ...(options === undefined ? [] : [['Options:', ...formatColumns(options)]]),
    [
      'Examples:',
      ...Object.entries(examples).flatMap(([line, comment]) => [`  # ${comment}`, `  causeway ${line}`]),
    ],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Formats names and their meanings in two columns. */
function formatColumns(meanings: Readonly<Record<string, string>>): string[] {
  const column = Math.max(...Object.keys(meanings).map((name) => name.length)) + 2;
  return Object.entries(meanings).flatMap(([name, meaning]) =>
    wrap(meaning, WIDTH - column - 2).map(
      (line, index) => `  ${(index === 0 ? name : '').padEnd(column)}${line}`,
    ),
  );
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
