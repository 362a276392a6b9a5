import { type Document, isNode, LineCounter, parseDocument, type Tags } from 'yaml';
import { findProblems } from '../../kernel/validation.ts';
import { checkOfferFile } from './file-rules.ts';
import { OfferFile } from './file-schema.ts';

type FileOptions = {
  name: string;
  /** Values for `${name}` placeholders in the file. */
  variables?: Readonly<Record<string, string>>;
};

export class OfferFileError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'OfferFileError';
    this.problems = problems;
  }
}

/** Compiles the offer file schema in advance, so that the first file does not take longer to parse than later ones. */
export function prepareOfferFiles(): void {
  findProblems(OfferFile, {});
}

export function parseOfferFile(text: string, { name, variables = {} }: FileOptions): OfferFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, customTags: keepNumbersAsText });
  if (document.errors.length > 0) {
    throw new OfferFileError(
      document.errors.map(({ message }) => `${name}: ${message.split('\n', 1)[0] ?? ''}`),
    );
  }
  const refusals: string[] = [];
  const data: unknown = substitute(document.toJS(), variables, (message) => void refusals.push(message));
  if (refusals.length > 0) throw new OfferFileError(refusals.map((message) => `${name}: ${message}`));
  const problems = findProblems(OfferFile, data);
  const found = problems.length > 0 ? problems : checkOfferFile(data as OfferFile);
  if (found.length > 0) {
    throw new OfferFileError(
      found.map(({ path, message }) => `${name}:${lineOf(document, lines, path)}: ${path}: ${message}`),
    );
  }
  return data as OfferFile;
}

/** Otherwise, a price would become a float and lose digits, and an unquoted address would become a number. */
function keepNumbersAsText(tags: Tags): Tags {
  const isNumber = (tag: Tags[number]) => typeof tag === 'object' && /:(int|float)$/.test(tag.tag);
  return tags.filter((tag) => !isNumber(tag));
}

function substitute(
  value: unknown,
  variables: Readonly<Record<string, string>>,
  refuse: (message: string) => void,
): unknown {
  if (typeof value === 'string') return substituteText(value, variables, refuse);
  if (Array.isArray(value)) return value.map((item) => substitute(item, variables, refuse));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, substitute(member, variables, refuse)]),
  );
}

function substituteText(
  text: string,
  variables: Readonly<Record<string, string>>,
  refuse: (message: string) => void,
): string {
  // PostgreSQL cannot store NUL or lone surrogates.
  if (text.includes('\0') || !text.isWellFormed()) refuse('text must not contain NUL or lone surrogates');
  return text.replace(/\$\{([\w.-]+)\}/g, (placeholder, name: string) => {
    if (Object.hasOwn(variables, name)) return variables[name] ?? '';
    refuse(`${placeholder} has no value; pass --set ${name}=VALUE`);
    return placeholder;
  });
}

/** Returns the line of the value at `path`, or of its closest existing parent. */
function lineOf(document: Document, lines: LineCounter, path: string): number {
  const steps = path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  for (; steps.length > 0; steps.pop()) {
    const node = document.getIn(steps, true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
