import { parseArgs } from 'node:util';
import { apiDocument } from '../operations/api-document.ts';
import { apiRoutes } from '../routes.ts';
import type { CommandHelp } from './command.ts';
import { writeOutput } from './write-output.ts';

export const OPENAPI_HELP: CommandHelp = {
  usage: ['openapi [--write FILE]'],
  description: 'Prints the OpenAPI 3.1 document of the partner API. This command generates openapi.json.',
  options: { '--write FILE': 'Write to FILE instead of standard output.' },
  examples: { 'openapi --write openapi.json': 'Regenerate the OpenAPI document' },
};

export async function runOpenApi(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { write: { type: 'string' } } });
  await writeOutput(values.write, `${JSON.stringify(apiDocument(apiRoutes), null, 2)}\n`);
}
