declare const __SVC_VERSION__: string;

declare module '*.svg' {
  const address: string;
  export default address;
}
