import { parseArgs } from 'node:util';
import { ERRORS } from '../../kernel/errors.ts';
import type { CommandHelp } from './command.ts';
import { writeOutput } from './write-output.ts';

export const ERRORS_HELP: CommandHelp = {
  usage: ['errors [--write FILE]'],
  description: 'Prints the catalogue of API errors as Markdown. docs/errors.md contains this output.',
  options: { '--write FILE': 'Write to FILE instead of standard output.' },
  examples: { 'errors --write docs/errors.md': 'Regenerate the error catalogue' },
};

const INTRODUCTION = `# Errors

Generated from \`service/src/kernel/errors.ts\` by \`npm run generate\`. Every failed request returns one JSON object: \`message\` for
people, \`type\` = \`api_error\`, \`code\` for programs, \`errors\` with details (a list of messages per field), and \`event_id\`,
which identifies the request in the logs.

| HTTP | code | message |
|---|---|---|
`;

export async function runErrors(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { write: { type: 'string' } } });
  const rows = Object.entries(ERRORS).map(
    ([code, [status, message]]) => `| ${status} | \`${code}\` | ${message} |`,
  );
  await writeOutput(values.write, `${INTRODUCTION}${rows.join('\n')}\n`);
}
