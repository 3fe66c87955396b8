#!/usr/bin/env node
import '../../../dist/svcctl.js';
