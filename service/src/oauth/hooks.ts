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
   * Returns the sign-in to the hosted pages according to the browser's cookies. If this callback is set,
   * oidc-provider's session follows the pages: signing out, switching accounts or signing in again there also applies
   * to oidc-provider.
   */
  signIn: ((cookies: string | undefined) => Promise<PageSignIn | null>) | null;
  /** Returns whether the user has a sign-in method that meets one of the requested contexts (`acr_values`). */
  canStepUp: ((userId: string, requested: readonly string[]) => Promise<boolean>) | null;
};
