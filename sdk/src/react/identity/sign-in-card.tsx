import { type ReactNode, useSyncExternalStore } from 'react';
import { useCausewayContext } from '../context.ts';
import type { BlockProps } from '../ui/class-names.ts';
import { useUi } from '../ui/ui.tsx';

export type SignInCardProps = BlockProps & {
  title?: string | undefined;
  /** The path on your site to return to. Default: the current page. */
  returnTo?: string | undefined;
  /** The text above the button. */
  children?: ReactNode;
};

const currentPath = () => `${location.pathname}${location.search}`;
const subscribeToNothing = () => () => undefined;

/**
 * Invites the user to sign in. The button links to the `signInUrl` of `CausewayProvider`.
 *
 * @example
 * ```tsx
 * import { SignInCard } from '@causeway/sdk/react';
 *
 * const card = <SignInCard title="Invest with Harbour">It takes about two minutes.</SignInCard>;
 * ```
 */
export function SignInCard({ title, returnTo, children, className }: SignInCardProps) {
  const { cx, t } = useUi();
  const { signInUrl } = useCausewayContext();
  const current = useSyncExternalStore(subscribeToNothing, currentPath, () => '/');
  const [path, query = ''] = signInUrl.split('?');
  const params = new URLSearchParams(query);
  params.set('return_to', returnTo ?? current);
  return (
    <section className={cx('cw cw-card cw-sign-in', className)}>
      <h2 className={cx('cw-title')}>{title ?? t('Sign in to invest')}</h2>
      <div className={cx('cw-muted')}>
        {children ?? t('Verify your identity, documents and wallets once. We keep them safe.')}
      </div>
      <a className={cx('cw-button cw-button-main cw-button-wide')} href={`${path}?${params}`}>
        {t('Sign in or register')}
      </a>
    </section>
  );
}
