/** Returns the text as an SQL literal, whatever `standard_conforming_strings` is. For statements without parameters. */
export function quoteLiteral(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
