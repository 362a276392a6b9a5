/** Returns the count with its noun, such as `1 refund` or `2 refunds`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
