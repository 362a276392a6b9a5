import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { UsageError } from '../../kernel/errors.ts';

/** The help text of one command, shown by `causeway NAME --help`. */
export type CommandHelp = {
  /** The ways to call the command, one per line, without the program name. */
  usage: readonly string[];
  description: string;
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

/**
 * Returns the action with this name. Throws a `UsageError` if `group` has no such action, or if the action does not
 * take one of the options in `values`.
 */
export function chooseAction<A extends { allowed: readonly string[] }>(
  group: string,
  actions: Readonly<Record<string, A>>,
  name: string,
  values: object,
): A {
  const action = actions[name];
  if (action === undefined) throw unknownCommand(group, name, Object.keys(actions));
  const unexpected = Object.keys(values).find((option) => !action.allowed.includes(option));
  if (unexpected !== undefined) throw new UsageError(`${group} ${name} does not take --${unexpected}`);
  return action;
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

/** Asks on the terminal whether to apply the printed changes. Returns false if there is no terminal. */
export async function confirm(): Promise<boolean> {
  return process.stdin.isTTY && /^y(es)?$/i.test(await ask('Apply these changes? [y/N] '));
}

/** Prints what a command will do, and asks the operator to type `name`, unless `isYes`. */
export async function confirmByName(preview: readonly string[], name: string, isYes = false): Promise<void> {
  console.error(preview.join('\n'));
  if (isYes) return;
  if (!process.stdin.isTTY)
    throw new UsageError('there is no terminal to confirm this on, so nothing was changed; pass --yes');
  if ((await ask(`Type ${name} to confirm: `)) !== name)
    throw new UsageError(`${name} was not typed, so nothing was changed`);
}

/** Returns the typed line without surrounding space, or an empty string if the input ends (Ctrl-D). */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // The promise of `question` never settles if the input ends.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  const answer = await Promise.race([lines.question(question), ended]);
  lines.close();
  return answer.trim();
}

export async function writeOutput(file: string | undefined, text: string): Promise<void> {
  if (file === undefined) process.stdout.write(text);
  else await writeFile(file, text);
}
