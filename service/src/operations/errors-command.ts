import { writeFile } from 'node:fs/promises';
import { ERRORS } from '../errors.ts';

const HEAD = `# Errors

Generated from \`service/src/errors.ts\`. Every failure is one JSON object: \`message\` for people, \`type\` = \`api_error\`,
\`code\` for programs, \`errors\` with details (per field a list of messages), and \`event_id\`, which finds the log line.

| HTTP | code | message |
|---|---|---|
`;

export async function runErrors(file: string | undefined): Promise<void> {
  const rows = Object.entries(ERRORS).map(
    ([code, [status, message]]) => `| ${status} | \`${code}\` | ${message} |`,
  );
  const text = `${HEAD}${rows.join('\n')}\n`;
  if (file === undefined) process.stdout.write(text);
  else await writeFile(file, text);
}
