/** Marks the values of an environment file that an operator has to replace. */
export const PLACEHOLDER = 'CHANGE_ME';

/** Returns whether a value contains the placeholder. Ignores case, because URLs may have been lower-cased. */
export function hasPlaceholder(text: string): boolean {
  return text.toUpperCase().includes(PLACEHOLDER);
}
