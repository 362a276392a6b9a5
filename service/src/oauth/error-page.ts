/** What a browser shows when a sign-in cannot even be sent back to the partner. */
export function plainErrorPage(description: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Sign-in failed</title></head>
<body><main><h1>This sign-in cannot continue</h1><p>${escapeHtml(description)}</p><p>Go back to the application you came from and try again.</p></main></body>
</html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
