/** Props of the components that render a block of their own. */
export type BlockProps = {
  /** Classes to add to the outermost element. The SDK's own classes have one name each, such as `cw-button`. */
  className?: string | undefined;
};

/** Joins the SDK's classes with those of the host, which come last. */
export function joinClasses(own: string, added: string | undefined): string {
  return added === undefined ? own : `${own} ${added}`;
}
