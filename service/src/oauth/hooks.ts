/** Callbacks that the hosted pages register with the authorization server. */
export type OAuthHooks = {
  /**
   * Returns the user who is signed in to the hosted pages, by the browser's cookies. When set, oidc-provider's
   * session follows it: signing out or switching accounts on the pages does the same here.
   */
  signedInUser: ((cookies: string | undefined) => Promise<string | null>) | null;
};
