import { writeFile } from 'node:fs/promises';
import { openApiDocument } from '../http/openapi.ts';
import { apiRoutes } from '../routes.ts';
import { VERSION } from './reference.ts';

export async function runOpenApi(file: string | undefined): Promise<void> {
  const text = `${JSON.stringify(openApiDocument(apiRoutes, VERSION), null, 2)}\n`;
  if (file === undefined) process.stdout.write(text);
  else await writeFile(file, text);
}
