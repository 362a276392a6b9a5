import { writeFile } from 'node:fs/promises';
import { apiDocument } from './openapi/document.ts';

// Writes the OpenAPI document that the service serves, and from which the SDK's types are generated.
await writeFile(
  new URL('../../openapi.json', import.meta.url),
  `${JSON.stringify(apiDocument(), null, 2)}\n`,
);
