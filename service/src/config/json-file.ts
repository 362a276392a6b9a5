import { readFileSync } from 'node:fs';

/** What is wrong in a settings file. Names the member, never its value: an operator may have pasted a key by mistake. */
export class InvalidMember extends Error {}

/** Throws `InvalidMember` if the file is not readable JSON. */
export function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // The message of a SyntaxError quotes the file.
    if (error instanceof SyntaxError) throw new InvalidMember('the file is not valid JSON');
    throw new InvalidMember(`the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
