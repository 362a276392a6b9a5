import { type Document, isNode, LineCounter, parseDocument, type Tags } from 'yaml';
import { findProblems } from '../http/validation.ts';
import { checkOfferFile } from './file-rules.ts';
import { OfferFile } from './file-schema.ts';

export type FileOptions = {
  /** Named in the messages. */
  name: string;
  /** What `${word}` in the file's texts stands for. */
  variables?: Readonly<Record<string, string>>;
};

/** Everything wrong with a file at once, each line naming its place. */
export class OfferFileError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'OfferFileError';
    this.problems = problems;
  }
}

/** Reads an offer's file: YAML, then the schema, then the rules that a schema cannot say. */
export function parseOfferFile(text: string, { name, variables = {} }: FileOptions): OfferFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, customTags: keepNumbersAsText });
  if (document.errors.length > 0) {
    throw new OfferFileError(
      document.errors.map(({ message }) => `${name}: ${message.split('\n', 1)[0] ?? ''}`),
    );
  }
  const refused: string[] = [];
  const data: unknown = fillIn(document.toJS(), variables, (message) => void refused.push(message));
  if (refused.length > 0) throw new OfferFileError(refused.map((message) => `${name}: ${message}`));
  const problems = findProblems(OfferFile, data);
  const found = problems.length > 0 ? problems : checkOfferFile(data as OfferFile);
  if (found.length > 0) {
    throw new OfferFileError(
      found.map(({ path, message }) => `${name}:${lineOf(document, lines, path)}: ${path}: ${message}`),
    );
  }
  return data as OfferFile;
}

/** A float would lose digits of a price, and an address without quotes would be read as a number. */
function keepNumbersAsText(tags: Tags): Tags {
  const isNumber = (tag: Tags[number]) => typeof tag === 'object' && /:(int|float)$/.test(tag.tag);
  return tags.filter((tag) => !isNumber(tag));
}

function fillIn(
  value: unknown,
  variables: Readonly<Record<string, string>>,
  refuse: (message: string) => void,
): unknown {
  if (typeof value === 'string') return fillInText(value, variables, refuse);
  if (Array.isArray(value)) return value.map((one) => fillIn(one, variables, refuse));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, fillIn(member, variables, refuse)]),
  );
}

function fillInText(
  text: string,
  variables: Readonly<Record<string, string>>,
  refuse: (message: string) => void,
): string {
  // The database could not give back what it was given.
  if (text.includes('\0') || !text.isWellFormed()) refuse('NUL and halves of characters are not text');
  return text.replace(/\$\{([\w.-]+)\}/g, (whole, word: string) => {
    if (Object.hasOwn(variables, word)) return variables[word] ?? '';
    refuse(`nothing says what ${whole} stands for`);
    return whole;
  });
}

/** The line of a member or, when it is missing, of what it is missing in. */
function lineOf(document: Document, lines: LineCounter, path: string): number {
  const steps = path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  for (; steps.length > 0; steps.pop()) {
    const node = document.getIn(steps, true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
