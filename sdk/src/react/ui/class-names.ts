/**
 * The component parts that the host can add classes to. The SDK's own class for a part is `cw-` followed by the part's
 * name.
 */
export type AppearancePart =
  | (
      | 'card'
      | 'checkout'
      | 'checklist'
      | 'sign-in'
      | 'offer-card'
      | 'offer-header'
      | 'part'
      | 'dialog'
      | 'panel'
    )
  | ('headline' | 'title' | 'subtitle' | 'tagline' | 'prose' | 'link' | 'muted' | 'strong' | 'small')
  | ('button' | 'button-main' | 'button-quiet' | 'button-danger' | 'button-small' | 'button-wide')
  | ('field' | 'label' | 'input' | 'amount-box' | 'amount-input' | 'problem' | 'option' | 'choice' | 'check')
  | (
      | 'notice'
      | 'notice-title'
      | 'badge'
      | 'chip'
      | 'empty'
      | 'skeleton'
      | 'spinner'
      | 'steps'
      | 'step'
      | 'bar'
    )
  | (
      | 'grid'
      | 'list'
      | 'list-row'
      | 'requirement'
      | 'facts'
      | 'summary'
      | 'terms'
      | 'milestone'
      | 'faq'
      | 'countdown'
    );

/** Classes by part, for example `{ 'button-main': 'btn btn-primary' }`. */
export type ClassNames = Readonly<Partial<Record<AppearancePart, string>>>;

/** Props of the components that render their own outermost element. */
export type BlockProps = {
  /** Classes to add to the outermost element. For inner parts, use `appearance.classNames`. */
  className?: string | undefined;
};

/** Returns the SDK's classes (`own`), the host's classes for the same parts, and `added`, as one class list. */
export function joinClasses(own: string, classNames: ClassNames, added?: string | undefined): string {
  const ofParts = own.split(' ').map((name) => classNames[name.replace(/^cw-/, '') as AppearancePart]);
  return [own, ...ofParts, added].filter((name) => name).join(' ');
}
