import { writeFile } from 'node:fs/promises';

/** Writes generated text to a file, or to standard output if no file is given. */
export async function writeOutput(file: string | undefined, text: string): Promise<void> {
  if (file === undefined) process.stdout.write(text);
  else await writeFile(file, text);
}
