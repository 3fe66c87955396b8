// Without the theme's fonts: those of the reader's system do.
export { default } from 'vitepress/theme-without-fonts';
