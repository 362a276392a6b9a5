/** How a user has signed in to the hosted pages. */
export type PageSignIn = {
  userId: string;
  /** Unix time. */
  at: number;
  amr: string[];
};

/** Callbacks that the hosted pages register with the authorization server. */
export type OAuthHooks = {
  /**
   * Reads the user's sign-in to the hosted pages from the browser's cookies. If this callback is set, oidc-provider's
   * session follows the hosted pages. The session ends when the user signs out or switches accounts there, and is
   * updated when the user signs in again.
   */
  signIn: ((cookies: string | undefined) => Promise<PageSignIn | null>) | null;
  /** Returns whether the user has a sign-in method that meets one of the requested contexts (`acr_values`). */
  canStepUp: ((userId: string, requested: readonly string[]) => Promise<boolean>) | null;
};
