export function bundle(): Promise<string>;
export function bundleFile(file: string): Promise<string>;
