/**
 * Returns the text as an SQL literal, for statements without parameters. Works with either value of
 * `standard_conforming_strings`.
 */
export function quoteLiteral(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
