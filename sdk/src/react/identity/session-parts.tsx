import type { ReactNode } from 'react';
import { useCausewayContext } from '../context.ts';
import { signOutUrl, useSession } from '../hooks/use-session.ts';
import { useUi } from '../ui/ui.tsx';

/**
 * Shows its children to signed-in users only. The component decides what to show, not what the user may do: the service
 * checks every request.
 *
 * @example
 * ```tsx
 * import { ParticipationsList, SignedIn, SignedOut, SignInCard } from '@causeway/sdk/react';
 *
 * const page = (
 *   <>
 *     <SignedIn><ParticipationsList /></SignedIn>
 *     <SignedOut><SignInCard /></SignedOut>
 *   </>
 * );
 * ```
 */
export function SignedIn({ children }: { children: ReactNode }): ReactNode {
  return useSession().status === 'signed_in' ? children : null;
}

/**
 * Shows its children once it is known that nobody is signed in.
 *
 * @example
 * ```tsx
 * import { SignedOut, SignInCard } from '@causeway/sdk/react';
 *
 * const invitation = <SignedOut><SignInCard /></SignedOut>;
 * ```
 */
export function SignedOut({ children }: { children: ReactNode }): ReactNode {
  return useSession().status === 'signed_out' ? children : null;
}

export type SignOutButtonProps = {
  /** The path in your app to open afterwards. Default: `/`. */
  returnTo?: string | undefined;
  /** The CSS class of the button. Default: the class of the SDK's buttons. */
  className?: string | undefined;
  /** Default: "Sign out". */
  children?: ReactNode;
};

/**
 * A button that signs the user out. It posts a form, so it works even before the page's scripts have loaded. The
 * browser then loads a new page, so none of the user's data stays in memory.
 *
 * @example
 * ```tsx
 * import { SignOutButton } from '@causeway/sdk/react';
 *
 * const button = <SignOutButton returnTo="/goodbye">Leave</SignOutButton>;
 * ```
 */
export function SignOutButton({ returnTo, className, children }: SignOutButtonProps) {
  const { cx, t } = useUi();
  const { prefix } = useCausewayContext();
  return (
    <form method="post" action={signOutUrl(prefix, returnTo)} className="cw">
      <button type="submit" className={className ?? cx('cw-button')}>
        {children ?? t('Sign out')}
      </button>
    </form>
  );
}
