// Declares the parts of Next that the SDK uses, so that the SDK builds without Next.
declare module 'next/headers.js' {
  export function headers(): Promise<Headers> | Headers;
}
declare module 'next/navigation.js' {
  export function redirect(url: string): never;
}
declare module 'next/server.js' {
  export class NextResponse extends Response {
    static next(init?: { request?: { headers: Headers } }): NextResponse;
  }
}
