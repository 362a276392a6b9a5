import type { ReactNode } from 'react';
import { useSyncExternalStore } from 'react';
import { useCausewayContext } from '../context.ts';

export type SignInCardProps = {
  title?: string | undefined;
  /** Where to come back to; the page that is open unless told. A path of your own site. */
  returnTo?: string | undefined;
  /** What the user should know before. */
  children?: ReactNode;
};

const currentPath = () => `${location.pathname}${location.search}`;
const never = () => () => undefined;

/**
 * Invites the user to sign in; leads to the provider's `signInUrl`.
 *
 * @example
 * ```tsx
 * import { SignInCard } from '@causeway/sdk/react';
 *
 * const card = <SignInCard title="Invest with Harbour">It takes about two minutes.</SignInCard>;
 * ```
 */
export function SignInCard({ title = 'Sign in to invest', returnTo, children }: SignInCardProps) {
  const { signInUrl } = useCausewayContext();
  const here = useSyncExternalStore(never, currentPath, () => '/');
  const [path, query = ''] = signInUrl.split('?');
  const params = new URLSearchParams(query);
  params.set('return_to', returnTo ?? here);
  return (
    <section className="cw cw-card cw-sign-in">
      <h2 className="cw-title">{title}</h2>
      <div className="cw-muted">
        {children ?? 'Your identity, documents and wallets are asked for once, and kept safe.'}
      </div>
      <a className="cw-button cw-button-main cw-button-wide" href={`${path}?${params}`}>
        Sign in or register
      </a>
    </section>
  );
}
